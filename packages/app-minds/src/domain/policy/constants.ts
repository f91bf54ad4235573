/**
 * Constants of decisions and moods, calibrated in a town of 12 characters over 7 days. A mind can override them
 * (`policy`). Unless stated otherwise, needs are fractions of their maximum and times are game minutes.
 */
export const policyConstants = Object.freeze({
  critical: 0.25,
  /** Added to the squared deficit of a critical need. */
  critical_urgency: 0.5,
  /** Defaults for interactions without reported rates and duration. */
  default_fill: 0.25,
  default_drain: 0.1,
  expected_minutes: 10,
  /** Number of observed gains after which their mean replaces the estimate, and weight of the newest gain. */
  learned_after: 3,
  learning_rate: 0.3,
  /** Distance in steps that halves a gain, and distance assumed for an entity without a position. */
  distance_scale: 20,
  unknown_distance: 10,
  /** Maximum distance in steps for conversations, and distance in steps within which a missing entity is gone. */
  talk_distance: 5,
  sure_sight: 2,
  /** Minimum scores of visible and of remembered candidates. */
  drop_below: 0.02,
  place_drop_below: 0.05,
  /** Weight of a remembered place, and the half-life of this weight in days. */
  place_factor: 0.8,
  place_half_life_days: 3,
  /** How long to avoid a refused interaction or a busy place. */
  cooldown_min: 90,
  /** Maximum time after an attempt in which a refusal can be inferred. */
  inference_min: 60,
  /** Maximum influence of one memory, and of all memories together. */
  memory_weight: 0.05,
  memory_limit: 0.15,
  /** Level at which a need counts as filled. The character leaves when all needs of the interaction are filled. */
  satisfied: 0.95,
  /** To leave for a critical need, the needs being filled must exceed this level, and `critical` plus this margin. */
  good_enough: 0.5,
  critical_margin: 0.1,
  /** Scores for staying, for leaving, and for leaving when every need is filled. */
  stay: 1,
  leave: 1.5,
  leave_satisfied: 2,
  /** Minimum stay, and maximum stay in an interaction that does not fill a need. */
  minimum_stay_min: 5,
  idle_stay_min: 30,
  /** Factor by which a candidate must outscore the current goal. */
  hysteresis: 1.25,
  /** Minimum urgency of the social need to accept any invitation, and the score of answering one. */
  social_urgency: 0.05,
  answer_bid: 3,
  /** Silence after which the character sends a nudge. */
  silence_min: 5,
  /** Number of own turns, or level of the social need, that ends a conversation. */
  own_turns: 4,
  talked_out: 0.9,
  /** Minimum relevance and minimum support (`judgeAnswer`) of a memory that answers a question. */
  answer_relevance: 0.1,
  answer_coverage: 0.6,
  utterance_chars: 280,
  wander: 0.015,
  /** Added to `wander` if a need is below `search_below`. */
  search: 0.03,
  search_below: 0.5,
  wait: 0.02,
  /** Mean need below which a critical need makes the mood desperate, and mean need from which it is content. */
  desperate_below: 0.4,
  content_from: 0.7,
  /** The lowest need becomes a goal below this share. */
  goal_below: 0.8,
})

export type PolicyConstants = { readonly [Name in keyof typeof policyConstants]: number }

/** Name reported in place of a model. */
export const policyName = 'causeway-policy/1'

export const policyNotice = 'decided by a rule-based scorer with template sentences, not by a language model'
