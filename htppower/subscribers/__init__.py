"""Subscribers that ship: each is imported only where it is used."""
