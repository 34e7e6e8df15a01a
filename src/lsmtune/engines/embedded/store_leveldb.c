/* LevelDB: RocksDB's ancestor, with one thread for flushes and compactions together. */

#include <leveldb/c.h>
#include <stdlib.h>

#include "stores.h"

struct database {
  leveldb_t *db;
  leveldb_options_t *options;
  leveldb_cache_t *cache;
  leveldb_filterpolicy_t *filter;
  leveldb_writeoptions_t *write;
  leveldb_readoptions_t *read;
};

static void check(const char *what, char *error) {
  if (error != NULL) fail(what, error);
}

static void *open_database(const char *folder, const struct settings *settings) {
  struct database *own = calloc(1, sizeof *own);
  char *error = NULL;
  own->options = leveldb_options_create();
  own->cache = leveldb_cache_create_lru(settings->cache_size);
  own->write = leveldb_writeoptions_create();
  own->read = leveldb_readoptions_create();
  leveldb_readoptions_set_verify_checksums(own->read, 1); /* as RocksDB does */
  leveldb_options_set_create_if_missing(own->options, 1);
  leveldb_options_set_write_buffer_size(own->options, settings->write_buffer_size);
  leveldb_options_set_max_file_size(own->options, settings->target_file_size_base);
  leveldb_options_set_block_size(own->options, settings->block_size);
  leveldb_options_set_cache(own->options, own->cache);
  leveldb_options_set_compression(
      own->options, settings->compressed ? leveldb_snappy_compression : leveldb_no_compression);
  if (settings->bloom_bits > 0) {
    own->filter = leveldb_filterpolicy_create_bloom(settings->bloom_bits);
    leveldb_options_set_filter_policy(own->options, own->filter);
  }
  own->db = leveldb_open(own->options, folder, &error);
  check("open", error);
  return own;
}

static void put(void *db, const char *key, size_t key_size, const char *value, size_t value_size) {
  struct database *own = db;
  char *error = NULL;
  leveldb_put(own->db, own->write, key, key_size, value, value_size, &error);
  check("put", error);
}

static int get(void *db, const char *key, size_t key_size) {
  struct database *own = db;
  char *error = NULL;
  size_t size;
  char *value = leveldb_get(own->db, own->read, key, key_size, &size, &error);
  check("get", error);
  leveldb_free(value);
  return value != NULL;
}

static int scan(void *db, const char *key, size_t key_size, int records) {
  struct database *own = db;
  leveldb_iterator_t *at = leveldb_create_iterator(own->db, own->read);
  char *error = NULL;
  int found = 0;
  for (leveldb_iter_seek(at, key, key_size); found < records && leveldb_iter_valid(at); found++) {
    size_t size;
    leveldb_iter_value(at, &size);
    leveldb_iter_next(at);
  }
  leveldb_iter_get_error(at, &error);
  check("scan", error);
  leveldb_iter_destroy(at);
  return found;
}

/* LevelDB flushes them when it is opened again. */
static void flush(void *db) { (void)db; }

static void describe(void *db, FILE *out) {
  struct database *own = db;
  char *stats = leveldb_property_value(own->db, "leveldb.stats");
  fputs(stats, out);
  leveldb_free(stats);
}

static void close_database(void *db) {
  struct database *own = db;
  leveldb_close(own->db);
  leveldb_options_destroy(own->options);
  leveldb_cache_destroy(own->cache);
  if (own->filter != NULL) leveldb_filterpolicy_destroy(own->filter);
  leveldb_writeoptions_destroy(own->write);
  leveldb_readoptions_destroy(own->read);
  free(own);
}

static const char *version(void) {
  static char text[32];
  snprintf(text, sizeof text, "%d.%d", leveldb_major_version(), leveldb_minor_version());
  return text;
}

const struct store leveldb_store = {"leveldb", version, open_database, put,           get,
                                    scan,      flush,   describe,      close_database};
