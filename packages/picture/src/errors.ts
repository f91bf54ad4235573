import { type CausewayError, defineErrors } from '@causeway/protocol'

export const PictureError = defineErrors({
  INVALID_PICTURE: {
    status: 422,
    about: 'the chart specification or drawing is invalid',
    remedy: 'correct the specification or the drawing named in the message',
  },
})

export const createInvalidPictureError = (
  reason: string,
  { data = {}, cause }: { data?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
): CausewayError => new PictureError('INVALID_PICTURE', reason, { data, cause })
