"""Migrations, written by Django."""
