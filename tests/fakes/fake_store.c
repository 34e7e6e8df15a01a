/* A stand-in for RocksDB's library: the functions of its C API that the driver uses, on records in
 * memory. FAULT is what it does wrong. */

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTHING 0
#define LOSES 1    /* forgets every tenth key */
#define SWAPS 2    /* gives each key the value of the first */
#define REFUSES 3  /* to open */
#define HANGS 4    /* in the hundredth put */
#define LACKS 5    /* has no rocksdb_delete, and no cache and rate limiter of newer versions */
#define WORKS 6    /* always runs a compaction */
#define SILENT 7   /* has no property, and runs a compaction that ends while it is asked */
#define FAILS 8    /* in the hundredth put */
#define DIES 9     /* in the hundredth put */
#define CHANGES 10 /* the size of memtables, and does not say so */

#define KEY 32
#define VALUE 1200
#define MOST 4000

typedef unsigned char flag;
struct options {
  char text[4096], shared[4096];
  flag create, refuse;
  int statistics;
};
struct record { char key[KEY]; char value[VALUE]; size_t key_size, size; };

static struct record records[MOST];
static int count, puts_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char log_path[4096], table_path[4096];
static char thing;

void rocksdb_free(void *text) { free(text); }

/* Options. */

void *rocksdb_options_create(void) { return calloc(1, sizeof(struct options)); }
void rocksdb_options_set_create_if_missing(struct options *options, flag on) { options->create = on; }
void rocksdb_options_set_error_if_exists(struct options *options, flag on) { options->refuse = on; }
void rocksdb_options_enable_statistics(struct options *options) { options->statistics = 1; }

/* Shared objects are texts. */

static void share(struct options *options, const char *name, const char *object) {
  char line[200];
  snprintf(line, sizeof line, "  %s=%s\n", name, object);
  strcat(options->shared, line);
}

static char *described(const char *kind, long long size, long long detail) {
  char text[100];
  snprintf(text, sizeof text, "%s %lld %lld", kind, size, detail);
  return strdup(text);
}

char *rocksdb_cache_create_lru(size_t bytes) { return described("lru", bytes, 0); }
void rocksdb_options_set_row_cache(struct options *options, char *cache) {
  share(options, "row_cache", cache);
}
char *rocksdb_ratelimiter_create(int64_t bytes, int64_t refill_us, int32_t fairness) {
  return described("limiter", bytes, refill_us);
}
void rocksdb_options_set_ratelimiter(struct options *options, char *limiter) {
  share(options, "rate_limiter", limiter);
}
static int bottom_threads;
void *rocksdb_create_default_env(void) { return &thing; }
void rocksdb_env_set_bottom_priority_background_threads(void *env, int n) { bottom_threads = n; }

#if FAULT != LACKS
void rocksdb_wait_for_compact(void) {}
size_t *rocksdb_hyper_clock_cache_options_create(size_t bytes, size_t entry_bytes) {
  size_t *settings = calloc(3, sizeof *settings);
  settings[0] = bytes;
  settings[1] = entry_bytes;
  return settings;
}
void rocksdb_hyper_clock_cache_options_set_num_shard_bits(size_t *settings, int bits) {
  settings[2] = bits;
}
char *rocksdb_cache_create_hyper_clock_opts(size_t *settings) {
  if (settings[1] != 0) abort();
  return described("hyper_clock", settings[0], settings[2]);
}
char **rocksdb_block_based_options_create(void) { return calloc(1, sizeof(char *)); }
void rocksdb_block_based_options_set_block_cache(char **tables, char *cache) { *tables = cache; }
void rocksdb_options_set_block_based_table_factory(struct options *options, char **tables) {
  share(options, "cache", *tables);
}
char *rocksdb_ratelimiter_create_auto_tuned(int64_t bytes, int64_t refill_us, int32_t fairness) {
  return described("auto_tuned", bytes, refill_us);
}
#endif

void rocksdb_get_options_from_string(const struct options *base, const char *text,
                                     struct options *options, char **error) {
  if (strstr(text, "unheard_of") != NULL) {
    *error = strdup("Invalid argument: Could not find option: unheard_of");
    return;
  }
  if (FAULT == LACKS && strstr(text, "low_pri_pool_ratio") != NULL) {
    *error = strdup("Invalid argument: Could not find option: low_pri_pool_ratio");
    return;
  }
  *options = *base;
  if (strstr(text, "={block_cache=") != NULL) {
    share(options, "cache", text);
    return;
  }
  snprintf(options->text, sizeof options->text, "%s", text);
}

/* Opening and closing. */

static void append(const char *path, const char *text) {
  FILE *file = fopen(path, "a");
  fputs(text, file);
  fclose(file);
}

/* The records of an earlier process, if it has flushed. */
static void recover(void) {
  FILE *file = fopen(table_path, "r");
  if (file == NULL) return;
  count = fread(records, sizeof *records, MOST, file);
  fclose(file);
}

static long memtable_bytes(const struct options *options) {
  const char *given = strstr(options->text, "write_buffer_size=");
  if (FAULT == CHANGES) return 65536;
  return given == NULL ? 67108864 : atol(given + strlen("write_buffer_size="));
}

void *rocksdb_open(struct options *options, const char *folder, char **error) {
  char path[4096], text[9000];
  if (FAULT == REFUSES) {
    *error = strdup("IO error: it does not open");
    return NULL;
  }
  if (mkdir(folder, 0700) != 0 && options->refuse) {
    *error = strdup("Invalid argument: exists (error_if_exists is true)");
    return NULL;
  }
  snprintf(log_path, sizeof log_path, "%s/LOG", folder);
  append(log_path, "2026/01/01-00:00:00.000000 1 RocksDB version: 9.9.9\n");
  if (FAULT == SILENT) {
    append(log_path, "1 EVENT_LOG_v1 {\"job\": 3, \"event\": \"compaction_started\"}\n");
  }
  const char *merge = strstr(options->text, "merge_operator=stringappend") == NULL ? "nullptr"
                      : "{id=StringAppendOperator;delimiter=,;}";
  snprintf(text, sizeof text,
           "[DBOptions]\n  given=%s\n%s  bottom_threads=%d\n  merge_operator=%s\n"
           "[CFOptions \"default\"]\n  write_buffer_size=%ld\n",
           options->text, options->shared, bottom_threads, merge, memtable_bytes(options));
  snprintf(path, sizeof path, "%s/OPTIONS-000003", folder);
  append(path, "[DBOptions]\n  old=1\n");
  snprintf(path, sizeof path, "%s/OPTIONS-000007", folder);
  append(path, text);
  snprintf(table_path, sizeof table_path, "%s/000009.sst", folder);
  recover();
  return &thing;
}

void rocksdb_close(void *store) {}

/* Operations. */

/* Whether RocksDB counts what a thread does. It must not do so for clients. */
static __thread int perf_level = 2;
void rocksdb_set_perf_level(int level) { perf_level = level; }

void *rocksdb_writeoptions_create(void) { return &thing; }
void *rocksdb_readoptions_create(void) { return &thing; }
void *rocksdb_flushoptions_create(void) { return &thing; }
void rocksdb_readoptions_set_total_order_seek(void *options, flag on) {}

static struct record *find(const char *key, size_t size) {
  for (int at = 0; at < count; at++) {
    if (records[at].key_size == size && memcmp(records[at].key, key, size) == 0) {
      return &records[at];
    }
  }
  return NULL;
}

void rocksdb_put(void *store, void *options, const char *key, size_t key_size, const char *value,
                 size_t size, char **error) {
  if (key_size > KEY || size > VALUE || perf_level != 1) abort();
  pthread_mutex_lock(&lock);
  puts_done++;
  while (FAULT == HANGS && puts_done >= 100) pause();
  if (FAULT == DIES && puts_done >= 100) raise(SIGKILL);
  if (FAULT == FAILS && puts_done >= 100) *error = strdup("IO error: No space left on device");
  struct record *record = find(key, key_size);
  if (record == NULL) {
    if (count == MOST) abort();
    record = &records[count++];
  }
  memcpy(record->key, key, key_size);
  memcpy(record->value, value, size);
  record->key_size = key_size;
  record->size = size;
  pthread_mutex_unlock(&lock);
}

static void drop(const char *key, size_t size) {
  struct record *record = find(key, size);
  if (record != NULL) *record = records[--count];
}

#if FAULT != LACKS
void rocksdb_delete(void *store, void *options, const char *key, size_t size, char **error) {
  pthread_mutex_lock(&lock);
  drop(key, size);
  pthread_mutex_unlock(&lock);
}
#endif

void rocksdb_merge(void *store, void *options, const char *key, size_t key_size, const char *value,
                   size_t size, char **error) {
  char joined[VALUE];
  size_t old = 0;
  pthread_mutex_lock(&lock);
  struct record *record = find(key, key_size);
  if (record != NULL) {
    if (record->size + 1 + size > VALUE) abort();
    memcpy(joined, record->value, record->size);
    joined[record->size] = ',';
    old = record->size + 1;
  }
  memcpy(joined + old, value, size);
  pthread_mutex_unlock(&lock);
  rocksdb_put(store, options, key, key_size, joined, old + size, error);
}

/* A batch holds one delete: of a key, or of those from a key on and below the end. */

struct batch { char key[KEY], end[KEY]; size_t key_size, end_size; };

struct batch *rocksdb_writebatch_create(void) { return calloc(1, sizeof(struct batch)); }
void rocksdb_writebatch_destroy(struct batch *batch) { free(batch); }
void rocksdb_writebatch_singledelete(struct batch *batch, const char *key, size_t size) {
  memcpy(batch->key, key, size);
  batch->key_size = size;
}
void rocksdb_writebatch_delete_range(struct batch *batch, const char *key, size_t key_size,
                                     const char *end, size_t end_size) {
  rocksdb_writebatch_singledelete(batch, key, key_size);
  memcpy(batch->end, end, end_size);
  batch->end_size = end_size;
}

static int compare(const struct record *record, const char *key, size_t size);

void rocksdb_write(void *store, void *options, struct batch *batch, char **error) {
  pthread_mutex_lock(&lock);
  if (batch->end_size == 0) drop(batch->key, batch->key_size);
  for (int at = batch->end_size == 0 ? -1 : count - 1; at >= 0; at--) {
    struct record *record = &records[at];
    if (compare(record, batch->key, batch->key_size) < 0) continue;
    if (compare(record, batch->end, batch->end_size) < 0) *record = records[--count];
  }
  pthread_mutex_unlock(&lock);
}

void *rocksdb_get_pinned(void *store, void *options, const char *key, size_t size, char **error) {
  struct record *copy = NULL;
  pthread_mutex_lock(&lock);
  struct record *record = find(key, size);
  if (record != NULL && !(FAULT == LOSES && (record - records) % 10 == 9)) {
    copy = malloc(sizeof *copy);
    *copy = *record;
    if (FAULT == SWAPS) memcpy(copy->value, records[0].value, VALUE);
  }
  pthread_mutex_unlock(&lock);
  return copy;
}

const char *rocksdb_pinnableslice_value(struct record *record, size_t *size) {
  *size = record->size;
  return record->value;
}

void rocksdb_pinnableslice_destroy(struct record *record) { free(record); }

void rocksdb_multi_get(void *store, void *options, size_t number, const char *const *keys,
                       const size_t *key_sizes, char **values, size_t *sizes, char **errors) {
  for (size_t at = 0; at < number; at++) {
    struct record *record = rocksdb_get_pinned(store, options, keys[at], key_sizes[at], NULL);
    values[at] = errors[at] = NULL;
    if (FAULT == FAILS) errors[at] = strdup("Corruption: block checksum mismatch");
    if (record == NULL) continue;
    values[at] = malloc(record->size);
    memcpy(values[at], record->value, record->size);
    sizes[at] = record->size;
    free(record);
  }
}

/* An iterator looks through all records for the next key. */

struct iterator { struct record *at; };

static int compare(const struct record *record, const char *key, size_t size) {
  size_t common = record->key_size < size ? record->key_size : size;
  int order = memcmp(record->key, key, common);
  return order != 0 ? order : (record->key_size > size) - (record->key_size < size);
}

/* The first record from a key on, or behind it. */
static struct record *first(const char *key, size_t size, int behind) {
  struct record *found = NULL;
  for (int at = 0; at < count; at++) {
    struct record *record = &records[at];
    if (compare(record, key, size) < behind) continue;
    if (found == NULL || compare(record, found->key, found->key_size) < 0) found = record;
  }
  return found;
}

/* The last record up to a key, or before it. */
static struct record *last(const char *key, size_t size, int before) {
  struct record *found = NULL;
  for (int at = 0; at < count; at++) {
    struct record *record = &records[at];
    if (compare(record, key, size) > -before) continue;
    if (found == NULL || compare(record, found->key, found->key_size) > 0) found = record;
  }
  return found;
}

struct iterator *rocksdb_create_iterator(void *store, void *options) {
  return calloc(1, sizeof(struct iterator));
}
void rocksdb_iter_seek(struct iterator *iterator, const char *key, size_t size) {
  iterator->at = first(key, size, 0);
}
void rocksdb_iter_seek_for_prev(struct iterator *iterator, const char *key, size_t size) {
  iterator->at = last(key, size, 0);
}
void rocksdb_iter_prev(struct iterator *iterator) {
  iterator->at = last(iterator->at->key, iterator->at->key_size, 1);
}
flag rocksdb_iter_valid(struct iterator *iterator) { return iterator->at != NULL; }
void rocksdb_iter_next(struct iterator *iterator) {
  iterator->at = first(iterator->at->key, iterator->at->key_size, 1);
}
const char *rocksdb_iter_key(struct iterator *iterator, size_t *size) {
  *size = iterator->at->key_size;
  return iterator->at->key;
}
const char *rocksdb_iter_value(struct iterator *iterator, size_t *size) {
  *size = iterator->at->size;
  return iterator->at->value;
}
void rocksdb_iter_get_error(struct iterator *iterator, char **error) {}
void rocksdb_iter_destroy(struct iterator *iterator) { free(iterator); }

/* Flushes, properties, statistics. */

void rocksdb_flush(void *store, void *options, char **error) {
  FILE *file = fopen(table_path, "w");
  fwrite(records, sizeof *records, count, file);
  fclose(file);
}

int rocksdb_property_int(void *store, const char *name, uint64_t *value) {
  static int asked;
  if (FAULT == SILENT) {
    if (++asked == 9) {
      append(log_path, "1 EVENT_LOG_v1 {\"job\": 3, \"event\": \"compaction_finished\"}\n");
    }
    return -1;
  }
  *value = FAULT == WORKS && strcmp(name, "rocksdb.num-running-compactions") == 0;
  return 0;
}

char *rocksdb_property_value(void *store, const char *name) {
  if (strcmp(name, "rocksdb.stats") != 0) return NULL;
  return strdup("** Compaction Stats [default] **\n"
                "Level    Files   Size     Score\n"
                "-------------------------------\n"
                "  L0      1/0   400.00 KB   0.2\n"
                " Sum      1/0   400.00 KB   0.0\n");
}

/* Tickers that are not 0 are of the puts of this process. */
static const char *const TICKERS[] = {
  "flush.write.bytes", "compact.write.bytes", "compact.read.bytes", "wal.bytes", "stall.micros",
  "number.keys.read", "number.db.seek", "block.cache.miss", "block.cache.add",
  "bloom.filter.useful", "block.cache.data.hit", "block.cache.data.miss", "block.cache.index.hit",
  "block.cache.index.miss", "block.cache.filter.hit", "block.cache.filter.miss",
};

char *rocksdb_options_statistics_get_string(struct options *options) {
  char text[4096];
  if (!options->statistics) return NULL;
  int end = snprintf(text, sizeof text, "rocksdb.number.keys.written COUNT : %d\n"
                     "rocksdb.bytes.written COUNT : %d\n", puts_done, 100 * puts_done);
  for (size_t at = 0; at < sizeof TICKERS / sizeof *TICKERS; at++) {
    end += snprintf(text + end, sizeof text - end, "rocksdb.%s COUNT : %d\n", TICKERS[at],
                    at == 0 ? 100 * puts_done : 0);
  }
  return strdup(text);
}
