"""Published experiments, regenerated from programs: one experiment a file."""
