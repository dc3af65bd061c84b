"""Helpers below everything else: compiled code, threads, mathematics, files, text."""
