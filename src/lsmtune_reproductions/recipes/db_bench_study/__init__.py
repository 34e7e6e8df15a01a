"""Recipe db-bench-study: published commands of db_bench (2021), and other stores."""
