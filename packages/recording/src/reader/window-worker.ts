import { serve } from '@causeway/worker'
import { type WindowMethods, WindowSession } from './window-session.ts'

const { handlers, close } = new WindowSession()

serve<WindowMethods>(handlers, {
  failure: 'reading the recording failed',
  close,
  transfer: (answer) => [(answer as { readonly bytes: Uint8Array<ArrayBuffer> }).bytes.buffer],
})
