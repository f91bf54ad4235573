import { z } from 'zod'
import { cellSchema, nameSchema } from './observation.ts'

export const memorySchema = z.strictObject({
  id: z.string().min(1).max(200),
  content: z.string(),
  importance: z.number().min(0).max(10),
  /** Game minutes. */
  sim_time: z.int().nullable(),
  location: cellSchema.nullable(),
  kind: z.enum(['episodic', 'seed', 'reflection', 'fact']),
  /** A newer fact about the same subject can supersede this one. */
  subject: nameSchema.nullable(),
  /** For memories formed by the policy, the first tag is the kind of experience. */
  tags: z.array(z.string()).readonly(),
})
export type Memory = Readonly<z.output<typeof memorySchema>>

/** A memory formed today, before it gets an id. */
export interface MemoryDraft extends Omit<Memory, 'id'> {
  readonly kind: 'episodic' | 'fact'
}
