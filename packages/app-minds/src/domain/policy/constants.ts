/**
 * Every number that a decision or a mood depends on. They were calibrated in a town of 12 characters over 7 days; a mind
 * may override them in its configuration (`policy`). Shares of a need's maximum where nothing else is said; times in game
 * minutes. What traits weigh is a table of its own (character.ts), and so is what memories weigh (form-memories.ts).
 */
export const policyConstants = Object.freeze({
  /** A need at or below this is critical. */
  critical: 0.25,
  /** Urgency that a critical need has beside the square of its lack. */
  critical_urgency: 0.5,
  /** What an interaction fills and drains where the game does not say. */
  default_fill: 0.25,
  default_drain: 0.1,
  /** How long an interaction is expected to last where the game does not say. */
  expected_minutes: 10,
  /** Observed gains needed before they replace the default, and the weight of the newest. */
  learned_after: 3,
  learning_rate: 0.3,
  /** Steps at which a gain counts half, and those to an entity whose place is unknown. */
  distance_scale: 20,
  unknown_distance: 10,
  /** Steps within which the game lets characters talk, and within which something missing is surely gone. */
  talk_distance: 5,
  sure_sight: 2,
  /** Candidates below these scores are dropped: in sight, and remembered. */
  drop_below: 0.02,
  place_drop_below: 0.05,
  /** Weight of a remembered place, and the days in which it halves. */
  place_factor: 0.8,
  place_half_life_days: 3,
  /** A place that refused or was busy is left alone for so long. */
  cooldown_min: 90,
  /** Only within so long can it be inferred from what did not change that something was refused. */
  inference_min: 60,
  /** Influence of one memory, and of all of them. */
  memory_weight: 0.05,
  memory_limit: 0.15,
  /** Leave an interaction when all that it fills is this full. */
  satisfied: 0.95,
  /** Leave it for a critical need once its own is this full, and by this much above critical. */
  good_enough: 0.5,
  critical_margin: 0.1,
  /** Scores of staying in an interaction, of leaving it, and of leaving it because all that it fills is full. */
  stay: 1,
  leave: 1.5,
  leave_satisfied: 2,
  /** Least stay, and longest stay in what fills nothing. */
  minimum_stay_min: 5,
  idle_stay_min: 30,
  /** A candidate must beat the present goal by this factor. */
  hysteresis: 1.25,
  /** Least urgency of company for which an invitation is accepted; the score of answering one. */
  social_urgency: 0.05,
  answer_bid: 3,
  /** A conversation that is silent for longer gets a nudge. */
  silence_min: 5,
  /** Own turns after which a conversation ends, and the fullness that ends it. */
  own_turns: 4,
  talked_out: 0.9,
  /** Relevance and share of a question's words that a memory needs to answer it. */
  answer_relevance: 0.3,
  answer_coverage: 0.5,
  /** Longest utterance, characters. */
  utterance_chars: 280,
  wander: 0.015,
  /** Added to `wander` while a need is below this. */
  search: 0.03,
  search_below: 0.5,
  wait: 0.02,
  /** Moods by the mean of the needs: desperate below this while one is critical, content from this on. */
  desperate_below: 0.4,
  content_from: 0.7,
  /** The lowest need is a goal to restore below this. */
  goal_below: 0.8,
})

/** Numbers of the policy, those of the table or a mind's own. */
export type PolicyConstants = { readonly [Name in keyof typeof policyConstants]: number }

/** Name and version of the policy, as answers give it in place of a model's. */
export const policyName = 'causeway-policy/1'

/** What the policy is, in one sentence, wherever it is named. */
export const policyNotice = 'decided by a rule-based scorer with template sentences, not by a language model'
