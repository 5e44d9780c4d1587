"""Programs at finite width."""
