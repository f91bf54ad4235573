/** State of a mind between decisions, without memories. Stored as one JSON value. */
// cspell:ignore heard -- a stored field
import { z } from 'zod'
import { cellSchema, nameSchema } from '../observation.ts'

const textListSchema = z.array(z.string()).readonly()
/** Ratio of each need to its maximum. */
const needSharesSchema = z.record(z.string(), z.number())

const goalSchema = z.strictObject({
  entity_id: nameSchema,
  interaction_name: nameSchema,
  need: nameSchema.nullable(),
  score: z.number(),
})

export const stateSchema = z.strictObject({
  counter: z.int().min(0),
  last: z
    .strictObject({
      action: z.strictObject({ action: nameSchema, parameters: z.record(z.string(), z.unknown()) }),
      time: z.int(),
      position: cellSchema.nullable(),
      needs: needSharesSchema,
      goal: goalSchema.nullable(),
    })
    .nullable(),
  /** The ongoing interaction, with the needs at its start. */
  stay: z
    .strictObject({
      name: nameSchema,
      entity_id: nameSchema.nullable(),
      fills: textListSchema,
      since: z.int(),
      needs: needSharesSchema,
    })
    .nullable(),
  /** Mean gain as a fraction of the maximum, and number of samples, by interaction and need (`createGainKey`). */
  gains: z.record(z.string(), z.strictObject({ mean: z.number(), samples: z.int() })),
  /** Open conversations by `interaction_id`. */
  talks: z.record(
    z.string(),
    z.strictObject({
      own_turns: z.int(),
      /** Game time of the last message of any participant. */
      heard_at: z.int(),
      has_nudged: z.boolean(),
      has_parted: z.boolean(),
    }),
  ),
  /** The latest statements of other characters, oldest first. Topics are chosen from them. */
  news: z
    .array(
      z.strictObject({ speaker_id: nameSchema, speaker_name: nameSchema, text: z.string(), time: z.int() }),
    )
    .readonly(),
  /** Hashes of the statements made to each partner (`hashStatements`), oldest first. */
  shared: z.array(z.number()).readonly(),
  critical: textListSchema,
  /** Keys of the memories formed on this game day. */
  formed: z.strictObject({ day: z.int(), keys: textListSchema }),
  /** The unreachable goal as `entity_id|interaction`. */
  blocked: z.string().nullable(),
  /** Digest of the observed state at the model's last decision, and game time of the decision (`llm_gate`). */
  gate: z.strictObject({ digest: z.string(), at: z.int() }).nullable(),
  /** Unknown fields that were already reported. */
  warned: textListSchema,
})

export type MindState = Readonly<z.output<typeof stateSchema>>
export type Goal = Readonly<z.output<typeof goalSchema>>
export type LastAction = NonNullable<MindState['last']>
export type ConversationState = MindState['talks'][string]

export const initialState: MindState = Object.freeze({
  counter: 0,
  last: null,
  stay: null,
  gains: {},
  talks: {},
  news: [],
  shared: [],
  critical: [],
  formed: { day: -1, keys: [] },
  blocked: null,
  gate: null,
  warned: [],
})

export const minutesPerDay = 1440

export const toGameDay = (time: number): number => Math.floor(time / minutesPerDay)
