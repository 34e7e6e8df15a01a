/* The part of the stand-in that opens stores and changes options. fake_store.c includes it. */

/* Options. */

void *rocksdb_options_create(void) { return calloc(1, sizeof(struct options)); }
void rocksdb_options_set_create_if_missing(struct options *options, flag on) { options->create = on; }
void rocksdb_options_set_create_missing_column_families(struct options *options, flag on) {}
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

static struct family *families[9];
static int family_count, options_number = 7;
static const char *kind = "plain";
static char changed[2000];

/* The records of the first family outlive the process once it has flushed them. */

static FILE *table(const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/000009.sst", folder_path);
  return fopen(path, mode);
}

static void keep(void) {
  FILE *file = table("w");
  for (int at = 0; at < count; at++) {
    if (records[at].family == families[0]) fwrite(&records[at], sizeof *records, 1, file);
  }
  fclose(file);
}

static void recover(void) {
  FILE *file = table("r");
  if (file == NULL) return;
  count = fread(records, sizeof *records, MOST, file);
  for (int at = 0; at < count; at++) records[at].family = families[0];
  fclose(file);
}

static long memtable_bytes(const struct options *options) {
  const char *given = strstr(options->text, "write_buffer_size=");
  if (FAULT == CHANGES) return 65536;
  return given == NULL ? 67108864 : atol(given + strlen("write_buffer_size="));
}

static void write_options(void) {
  char path[4096], text[20000];
  struct options *all = families[0]->options;
  int size = snprintf(text, sizeof text, "[DBOptions]\n  given=%s\n%s  bottom_threads=%d\n  kind=%s\n%s",
                      all->text, all->shared, bottom_threads, kind, changed);
  for (int at = 0; at < family_count; at++) {
    struct family *family = families[at];
    const char *merge = strstr(family->options->text, "merge_operator=stringappend") == NULL
                        ? "nullptr" : "{id=StringAppendOperator;delimiter=,;}";
    size += snprintf(text + size, sizeof text - size,
                     "[CFOptions \"%s\"]\n  given=%s\n  merge_operator=%s\n"
                     "  write_buffer_size=%ld\n",
                     family->name, family->options->text, merge, memtable_bytes(family->options));
  }
  snprintf(path, sizeof path, "%s/OPTIONS-%06d", folder_path, options_number++);
  append(path, text);
}

void *rocksdb_open_column_families(struct options *options, const char *folder, int number,
                                   const char *const *names, struct options *const *each,
                                   struct family **handles, char **error) {
  char path[4096];
  if (FAULT == REFUSES) {
    *error = strdup("IO error: it does not open");
    return NULL;
  }
  if (mkdir(folder, 0700) != 0 && (errno != EEXIST || options->refuse)) {
    *error = strdup(errno == EEXIST ? "Invalid argument: exists (error_if_exists is true)"
                                    : "IO error: the folder cannot be made");
    return NULL;
  }
  for (family_count = 0; family_count < number; family_count++) {
    struct family *family = calloc(1, sizeof *family);
    snprintf(family->name, sizeof family->name, "%s", names[family_count]);
    family->options = each[family_count];
    handles[family_count] = families[family_count] = family;
  }
  snprintf(folder_path, sizeof folder_path, "%s", folder);
  snprintf(log_path, sizeof log_path, "%s/LOG", folder);
  append(log_path, "2026/01/01-00:00:00.000000 1 RocksDB version: 9.9.9\n");
  if (FAULT == SILENT) {
    append(log_path, "1 EVENT_LOG_v1 {\"job\": 3, \"event\": \"compaction_started\"}\n");
  }
  snprintf(path, sizeof path, "%s/OPTIONS-000003", folder);
  append(path, "[DBOptions]\n  old=1\n");
  write_options();
  recover();
  return &thing;
}

void *rocksdb_transactiondb_options_create(void) { return &thing; }
void *rocksdb_transactiondb_open_column_families(
    struct options *options, void *of_transactions, const char *folder, int number,
    const char *const *names, struct options *const *each, struct family **handles, char **error) {
  kind = "transaction";
  return rocksdb_open_column_families(options, folder, number, names, each, handles, error);
}

void *rocksdb_open_column_families_with_ttl(
    struct options *options, const char *folder, int number, const char *const *names,
    struct options *const *each, struct family **handles, const int *seconds, char **error) {
  char text[40];
  snprintf(text, sizeof text, "ttl %d %d", seconds[0], seconds[number - 1]);
  kind = strdup(text);
  return rocksdb_open_column_families(options, folder, number, names, each, handles, error);
}

static void change(const char *of, int number, const char *const *keys, const char *const *values,
                   char **error) {
  for (int at = 0; at < number; at++) {
    if (strcmp(keys[at], "unheard_of") == 0) *error = strdup("Invalid argument: unheard_of");
  }
  for (int at = 0; *error == NULL && at < number; at++) {
    char line[200];
    snprintf(line, sizeof line, "  %s.%s=%s\n", of, keys[at], values[at]);
    strcat(changed, line);
  }
  if (*error == NULL) write_options();
}

void rocksdb_set_options_cf(void *store, struct family *family, int number, const char *const *keys,
                            const char *const *values, char **error) {
  change(family->name, number, keys, values, error);
}
#if FAULT != LACKS
void rocksdb_set_db_options(void *store, int number, const char *const *keys,
                            const char *const *values, char **error) {
  change("database", number, keys, values, error);
}
#endif

void rocksdb_column_family_handle_destroy(struct family *family) { family->name[0] = 0; }
void rocksdb_close(void *store) {
  for (int at = 0; at < family_count; at++) {
    if (families[at]->name[0] != 0) abort(); /* a handle is still there */
  }
}
