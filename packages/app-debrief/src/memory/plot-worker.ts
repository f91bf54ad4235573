import { serve } from '@causeway/worker'
import { createPlotMemory } from './plot-memory.ts'
import type { PlotMethods } from './plot-methods.ts'

serve<PlotMethods>(createPlotMemory(), { failure: 'working on the plot failed' })
