/** The worker that holds one large plot, so that reading, changing and writing it holds nobody up. */
import { serve } from '@causeway/worker'
import { plotMemory } from './plot-memory.ts'
import type { PlotMethods } from './plot-methods.ts'

serve<PlotMethods>(plotMemory(), { failure: 'working on the plot failed' })
