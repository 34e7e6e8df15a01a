"""AutoTiKV (2019): four searches on engines of this machine, and why they end where they do."""
