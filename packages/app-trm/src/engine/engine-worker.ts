import { serve } from '@causeway/worker'
import { type EngineMethods, engineMethods } from './methods.ts'

serve<EngineMethods>(engineMethods, { failure: 'working on the code failed' })
