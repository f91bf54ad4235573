/** What a setting is, and the kinds of values that settings have. */
import { delimiter } from 'node:path'
import { z } from 'zod'

/** true or false. */
export const flag = (value: boolean) => z.union([z.boolean(), z.stringbool()]).default(value)

/** A whole number. */
export const whole = (value: number, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) =>
  z.coerce.number().int().min(min).max(max).default(value)

/** A list: an array in the configuration file, divided text elsewhere: like PATH, unless another divider is given. */
export const list = (divider: string = delimiter) =>
  z
    .union([z.array(z.string()), z.string().transform((text) => text.split(divider))])
    .transform((items) => items.map((item) => item.trim()).filter((item) => item !== ''))
    .default([])

/** `minds:3000` */
export const alias = z.string().transform((text, { addIssue }) => {
  const [, app, port] = /^([A-Za-z][A-Za-z0-9]*):(\d{1,5})$/.exec(text) ?? []
  if (app !== undefined && Number(port) <= 65_535) return { app, port: Number(port) }
  addIssue(`not of the form app:port: ${text}`)
  return z.NEVER
})

/** An exact web origin in the form that browsers send: `http://localhost:6274`. `*` and `null` are not origins of one page. */
export const webOrigin = z.string().transform((text, { addIssue }) => {
  const hasForm = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:\d{1,5})?$/.test(text)
  // URL omits default ports, as browsers do, and has no origin for other schemes, such as those of extensions.
  if (hasForm && (!/^https?:/.test(text) || URL.parse(text)?.origin === text)) return text
  addIssue(`not an origin as browsers send it, such as http://localhost:6274: ${text}`)
  return z.NEVER
})

/** One setting. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  /** Environment variable, also the name in an `--env-file`. */
  readonly env: string
  readonly schema: Schema
  /** What it does, for `docs/settings.md`. */
  readonly meaning: string
  /** The default in words, where the schema does not say it. */
  readonly defaultText?: string
  /** True where the value is a secret or may hold one, as headers do: it is written into no file that others may read. */
  readonly isSecret?: boolean
  /** The app that gets it, with `env.settings`; absent for the server's own. */
  readonly app?: string
}

/** A setting, with the type of its value kept. */
export const setting = <Schema extends z.ZodType>(row: Setting<Schema>): Setting<Schema> => row
