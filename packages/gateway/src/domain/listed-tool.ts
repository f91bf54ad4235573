import { isObject, type JsonObject, type ToolAnnotations } from '@causeway/protocol'
import type { ListedTool } from './catalogue.ts'

/**
 * Returns a tool that every client accepts, or `undefined` if its input schema is not an object's: one such
 * tool would make SDK clients reject the whole list. Removes an output schema that is not an object's.
 */
export function normalizeTool(tool: ListedTool): ListedTool | undefined {
  // Clients of Causeway never send tasks of MCP 2025-11-25.
  const { inputSchema, outputSchema, annotations, description, execution: _, ...rest } = tool
  const { type = 'object' } = inputSchema
  if (type !== 'object' || !hasValidProperties(inputSchema)) return undefined
  const isOutputValid =
    isObject(outputSchema) && outputSchema.type === 'object' && hasValidProperties(outputSchema)
  return {
    ...rest,
    description: typeof description === 'string' ? description : '',
    inputSchema: { ...inputSchema, type },
    ...(isOutputValid ? { outputSchema } : {}),
    ...(isObject(annotations) ? { annotations: annotations as ToolAnnotations } : {}),
  }
}

/** Tasks of MCP 2025-11-25. `required` rejects other calls. */
export function getTaskSupport({ execution }: JsonObject): 'optional' | 'required' | undefined {
  const support = isObject(execution) ? execution.taskSupport : undefined
  return support === 'optional' || support === 'required' ? support : undefined
}

const hasValidProperties = ({ properties = {} }: ListedTool['inputSchema']): boolean =>
  isObject(properties) && Object.values(properties).every((one) => isObject(one) || typeof one === 'boolean')
