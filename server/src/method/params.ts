/** Reading the params of a method. */
import { CausewayError, isObject, type Params } from '@causeway/protocol'

/** A required text; throws `INVALID_PARAMS`. */
export function text(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw new CausewayError('INVALID_PARAMS', `params.${name} is not a string`, { data: { param: name } })
}

/** A required object; throws `INVALID_PARAMS`. */
export function object(params: Params, name: string): Params {
  const value = params[name]
  if (isObject(value)) return value
  throw new CausewayError('INVALID_PARAMS', `params.${name} is not an object`, { data: { param: name } })
}
