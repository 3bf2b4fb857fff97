#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/// sqlite3_db_config for the switches that take one integer; Swift imports no variadic functions.
static inline int csqlite_db_config(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, (int *)0);
}

/// sqlite3_db_config's SQLITE_DBCONFIG_LOOKASIDE: no memory set aside for small blocks.
static inline int csqlite_without_lookaside(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, 0, 0);
}

/// sqlite3_config's SQLITE_CONFIG_PAGECACHE: no memory set aside for pages. Before the first connection, or it does nothing.
static inline int csqlite_without_page_reserve(void) {
  return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

#endif
