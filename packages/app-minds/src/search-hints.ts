/** Words that users have for the tools and that their names and descriptions lack. */
export const searchHints = {
  create_mind: 'make NPC, agent, character, personality',
  cleanup_mind: 'NPC leaves level, keep what it knows',
  forget_mind: 'erase character, delete NPC, remove all',
  relink_mind: 'NPC has new id, respawn',
  export_mind: 'save game, back up NPC, write save slot',
  import_mind: 'load game, read save slot, clone NPC',
  list_minds: 'which characters, NPCs exist',
  decide_action: 'what should NPC do next, behaviour, AI',
  consolidate_memories: 'NPC goes to sleep, night, summarize day',
  recall_memories: 'what does NPC remember about player',
  explain_decision: 'why did NPC do that, run away, attack',
} as const
