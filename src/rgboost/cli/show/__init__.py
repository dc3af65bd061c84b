"""What commands show: lines for people, JSON for machines, and how far a fit is."""
