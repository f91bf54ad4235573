/** Words that users have for the tools and that their names and descriptions lack. */
export const searchHints = {
  get_health: 'is server ok, status, running',
  list_apps: 'what can this server do',
  refresh_registry: 'reload app, tools changed',
  query_audit: 'who called what, history, log',
  make_backup: 'back up, save all data',
  list_backups: 'which backups exist',
} as const
