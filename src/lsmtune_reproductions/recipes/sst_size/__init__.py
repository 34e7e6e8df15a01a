"""Recipe sst-size: a published experiment on the size of SST files (2021)."""
