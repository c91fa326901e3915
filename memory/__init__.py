"""What Steward keeps, for whom, and how long."""
