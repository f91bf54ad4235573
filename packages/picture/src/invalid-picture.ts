import { CausewayError } from '@causeway/protocol'

/** `INVALID_PICTURE`: what was to be drawn cannot be drawn. The reason stands in the message. */
export const invalidPicture = (
  reason: string,
  { data = {}, cause }: { data?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
): CausewayError => new CausewayError('INVALID_PICTURE', reason, { data, cause })
