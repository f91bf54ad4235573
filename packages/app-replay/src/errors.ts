import { defineErrors } from '@causeway/protocol'

export const ReplayError = defineErrors({
  NO_RECORDING: {
    status: 409,
    legacyCode: -32000,
    about: 'no recording is loaded',
    remedy: 'call load_recording first',
  },
  NOT_DIAGNOSED: {
    status: 409,
    about: 'the recording was not diagnosed',
    remedy: 'call diagnose for it first, without a range',
  },
})
