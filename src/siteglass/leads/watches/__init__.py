"""Watches: saved searches that run again and report the leads that were not there before."""
