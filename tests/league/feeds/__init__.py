"""Tests of highlights, follows and the feed."""
