/** Words that users have for the tools and that their names and descriptions lack. */
export const searchHints = {
  find_help_topics: 'how do I, manual, configure',
  search_help_by_section: 'look up in one chapter, API reference only',
  get_help_document: 'read whole page, full text of manual',
  list_help_sections: 'chapters, table of contents of manual',
} as const
