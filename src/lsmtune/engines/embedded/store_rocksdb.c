/* RocksDB. What LevelDB holds fixed is set to LevelDB's values, so that both build like trees:
   the triggers of L0, L1 of 10 MiB. No statistics: they cost time that LevelDB does not spend. */

#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

#include "stores.h"

enum { L0_COMPACTION = 4, L0_SLOWDOWN = 8, L0_STOP = 12, L1_BYTES = 10 << 20 };

struct database {
  rocksdb_t *db;
  rocksdb_options_t *options;
  rocksdb_writeoptions_t *write;
  rocksdb_readoptions_t *read;
};

static void check(const char *what, char *error) {
  if (error != NULL) fail(what, error);
}

static rocksdb_options_t *options_of(const struct settings *settings) {
  rocksdb_options_t *options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_write_buffer_size(options, settings->write_buffer_size);
  rocksdb_options_set_target_file_size_base(options, settings->target_file_size_base);
  rocksdb_options_set_max_bytes_for_level_base(options, L1_BYTES);
  rocksdb_options_set_level0_file_num_compaction_trigger(options, L0_COMPACTION);
  rocksdb_options_set_level0_slowdown_writes_trigger(options, L0_SLOWDOWN);
  rocksdb_options_set_level0_stop_writes_trigger(options, L0_STOP);
  rocksdb_options_set_compression(
      options, settings->compressed ? rocksdb_snappy_compression : rocksdb_no_compression);
  rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_block_size(table, settings->block_size);
  rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(settings->cache_size));
  if (settings->bloom_bits > 0) {
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(settings->bloom_bits));
  }
  rocksdb_options_set_block_based_table_factory(options, table);
  return options;
}

static void *open_database(const char *folder, const struct settings *settings) {
  struct database *own = calloc(1, sizeof *own);
  char *error = NULL;
  own->options = options_of(settings);
  own->write = rocksdb_writeoptions_create();
  own->read = rocksdb_readoptions_create();
  own->db = rocksdb_open(own->options, folder, &error);
  check("open", error);
  return own;
}

static void put(void *db, const char *key, size_t key_size, const char *value, size_t value_size) {
  struct database *own = db;
  char *error = NULL;
  rocksdb_put(own->db, own->write, key, key_size, value, value_size, &error);
  check("put", error);
}

static int get(void *db, const char *key, size_t key_size) {
  struct database *own = db;
  char *error = NULL;
  size_t size;
  char *value = rocksdb_get(own->db, own->read, key, key_size, &size, &error);
  check("get", error);
  rocksdb_free(value);
  return value != NULL;
}

static int scan(void *db, const char *key, size_t key_size, int records) {
  struct database *own = db;
  rocksdb_iterator_t *at = rocksdb_create_iterator(own->db, own->read);
  char *error = NULL;
  int found = 0;
  for (rocksdb_iter_seek(at, key, key_size); found < records && rocksdb_iter_valid(at); found++) {
    size_t size;
    rocksdb_iter_value(at, &size);
    rocksdb_iter_next(at);
  }
  rocksdb_iter_get_error(at, &error);
  check("scan", error);
  rocksdb_iter_destroy(at);
  return found;
}

static void flush(void *db) {
  struct database *own = db;
  char *error = NULL;
  rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
  rocksdb_flush(own->db, options, &error);
  check("flush", error);
  rocksdb_flushoptions_destroy(options);
}

static void describe(void *db, FILE *out) {
  struct database *own = db;
  char *table = rocksdb_property_value(own->db, "rocksdb.stats");
  fputs(table, out);
  rocksdb_free(table);
}

static void close_database(void *db) {
  struct database *own = db;
  rocksdb_close(own->db);
  rocksdb_options_destroy(own->options);
  rocksdb_writeoptions_destroy(own->write);
  rocksdb_readoptions_destroy(own->read);
  free(own);
}

/* The interface of C does not tell it; RocksDB's LOG does. */
static const char *version(void) { return ""; }

const struct store rocksdb_store = {"rocksdb", version, open_database, put,           get,
                                    scan,      flush,   describe,      close_database};
