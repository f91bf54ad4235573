import { join } from 'node:path'
import { type AppTool, type WidgetName, widgetNames } from '@causeway/app-kit'
import { CausewayError, type Resource, type ResourceContents } from '@causeway/protocol'
import { findBuiltPages, readIfExists } from '../process/built-pages.ts'

const mimeType = 'text/html;profile=mcp-app'

const prefix = 'ui://causeway/'

const descriptions: Readonly<Record<WidgetName, readonly [name: string, about: string]>> = {
  series: ['Series plot', 'Quantities of a recording over its frames.'],
  scene: ['Scene', 'The bodies and contacts of a frame in three dimensions.'],
  map: ['Plot map', 'The features of a maritime plot on a map.'],
  decision: ['Decision', 'A decision of a mind with the candidates and their scores.'],
}

export const getWidgetUri = (name: WidgetName): string => `${prefix}${name}`

/** Also true for a widget that does not exist. */
export const isWidgetUri = (uri: string): boolean => uri.startsWith(prefix)

export function listWidgets(tools: Iterable<AppTool>): readonly Resource[] {
  const usedWidgets = new Set([...tools].map(({ widget }) => widget))
  return widgetNames
    .filter((widget) => usedWidgets.has(widget))
    .map((widget) => {
      const [name, description] = descriptions[widget]
      return { uri: getWidgetUri(widget), name, description, mimeType }
    })
}

export async function readWidget(uri: string): Promise<ResourceContents> {
  const name = widgetNames.find((widget) => getWidgetUri(widget) === uri)
  if (name === undefined)
    throw new CausewayError('RESOURCE_NOT_FOUND', `no such widget: ${uri}`, { data: { uri } })
  const page = await readIfExists(join(findBuiltPages(), 'widgets', `${name}.html`))
  if (page === undefined)
    throw new CausewayError('RESOURCE_NOT_FOUND', `the page of ${uri} is not built`, {
      remedy: 'build it with npm run build',
      data: { uri },
    })
  return { uri, mimeType, text: page.toString(), _meta: { ui: { prefersBorder: true } } }
}
