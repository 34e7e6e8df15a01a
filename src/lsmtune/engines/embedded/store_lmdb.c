/* LMDB: a B+tree that copies the pages it changes, in a memory map; no memtables, no log, no
   background work. The page cache is its cache, so `cache_size` and the rest say nothing to it.

   A write is a transaction of its own without fsync, as the others write without one. They lose
   the newest writes when the machine dies; LMDB may then lose the database. */

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stores.h"

enum { SPARE_BYTES = 1 << 30, TIMES_DATA = 4, READERS = 1024 };

struct database {
  MDB_env *env;
  MDB_dbi dbi;
};

static void check(const char *what, int code) {
  if (code != MDB_SUCCESS) fail(what, mdb_strerror(code));
}

static MDB_val of(const char *bytes, size_t size) {
  return (MDB_val){.mv_size = size, .mv_data = (void *)bytes};
}

static void *open_database(const char *folder, const struct settings *settings) {
  struct database *own = calloc(1, sizeof *own);
  MDB_txn *txn;
  if (mkdir(folder, 0755) != 0 && errno != EEXIST) fail("open", strerror(errno));
  check("open", mdb_env_create(&own->env));
  check("open", mdb_env_set_mapsize(own->env, TIMES_DATA * settings->most_bytes + SPARE_BYTES));
  check("open", mdb_env_set_maxreaders(own->env, READERS));
  check("open", mdb_env_open(own->env, folder, MDB_NOSYNC, 0644));
  check("open", mdb_txn_begin(own->env, NULL, 0, &txn));
  check("open", mdb_dbi_open(txn, NULL, 0, &own->dbi));
  check("open", mdb_txn_commit(txn));
  return own;
}

static void put(void *db, const char *key, size_t key_size, const char *value, size_t value_size) {
  struct database *own = db;
  MDB_val name = of(key, key_size), data = of(value, value_size);
  MDB_txn *txn;
  check("put", mdb_txn_begin(own->env, NULL, 0, &txn));
  check("put", mdb_put(txn, own->dbi, &name, &data, 0));
  check("put", mdb_txn_commit(txn));
}

static int get(void *db, const char *key, size_t key_size) {
  struct database *own = db;
  MDB_val name = of(key, key_size), data;
  MDB_txn *txn;
  check("get", mdb_txn_begin(own->env, NULL, MDB_RDONLY, &txn));
  int code = mdb_get(txn, own->dbi, &name, &data);
  if (code != MDB_NOTFOUND) {
    check("get", code);
    /* The others copy the value out: reading it here fetches its page. */
    char *copy = malloc(data.mv_size);
    memcpy(copy, data.mv_data, data.mv_size);
    free(copy);
  }
  mdb_txn_abort(txn);
  return code != MDB_NOTFOUND;
}

static int scan(void *db, const char *key, size_t key_size, int records) {
  struct database *own = db;
  MDB_val name = of(key, key_size), data;
  MDB_txn *txn;
  MDB_cursor *at;
  int found = 0;
  check("scan", mdb_txn_begin(own->env, NULL, MDB_RDONLY, &txn));
  check("scan", mdb_cursor_open(txn, own->dbi, &at));
  int code = mdb_cursor_get(at, &name, &data, MDB_SET_RANGE);
  for (; found < records && code == MDB_SUCCESS; found++) {
    code = mdb_cursor_get(at, &name, &data, MDB_NEXT);
  }
  if (code != MDB_NOTFOUND) check("scan", code);
  mdb_cursor_close(at);
  mdb_txn_abort(txn);
  return found;
}

/* Every write is in the tree. */
static void flush(void *db) { (void)db; }

static void describe(void *db, FILE *out) {
  struct database *own = db;
  MDB_stat stat;
  MDB_envinfo info;
  check("describe", mdb_env_stat(own->env, &stat));
  check("describe", mdb_env_info(own->env, &info));
  fprintf(out, "depth %u\nbranch pages %zu\nleaf pages %zu\noverflow pages %zu\n", stat.ms_depth,
          stat.ms_branch_pages, stat.ms_leaf_pages, stat.ms_overflow_pages);
  fprintf(out, "pages in the file %zu\nbytes a page %u\nrecords %zu\n", info.me_last_pgno + 1,
          stat.ms_psize, stat.ms_entries);
}

static void close_database(void *db) {
  struct database *own = db;
  mdb_env_close(own->env);
  free(own);
}

static const char *version(void) {
  static char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  return text;
}

const struct store lmdb_store = {"lmdb", version, open_database, put,           get,
                                 scan,   flush,   describe,      close_database};
