"""State in Redis or Valkey: standalone, Sentinel or Cluster."""
