"""Files that commands read and write: data, stored models, predictions."""
