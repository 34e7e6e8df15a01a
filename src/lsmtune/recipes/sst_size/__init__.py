"""An experiment on the size of SST files (2021), run again with its two factors apart."""
