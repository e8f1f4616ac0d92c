"""Doubles of other diarizers' interfaces."""
