/** Does not load readers and analyses, which would triple the CPU time until the first frame. */
import { toDataError } from '@causeway/store'
import { serve } from '@causeway/worker'
import { type RecorderMethods, RecorderSession } from './recorder-methods.ts'

const { handlers, close } = new RecorderSession()

serve<RecorderMethods>(handlers, {
  failure: 'recording failed',
  convert: (error) => toDataError(error, 'the recording'),
  close,
})
