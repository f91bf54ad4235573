/** The entry of the worker that reads, applies and judges code, so that no text holds up other calls. */
import { serve } from '@causeway/worker'
import type { EngineMethods } from './engine-methods.ts'
import { engineWork } from './engine-work.ts'

serve<EngineMethods>(engineWork, { failure: 'working on the code failed' })
