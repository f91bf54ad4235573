/**
 * The entry of the workers that record, which load what records and nothing else: with the readers and the analyses of an
 * app beside it such a thread costs three times the processor time until it takes its first frame (measured).
 */
import { dataFailure } from '@causeway/store'
import { serve } from '@causeway/worker'
import { type RecorderMethods, recorderMethods } from './recorder-methods.ts'

const { handlers, close } = recorderMethods()

serve<RecorderMethods>(handlers, {
  failure: 'recording failed',
  convert: (error) => dataFailure(error, 'the recording'),
  close,
})
