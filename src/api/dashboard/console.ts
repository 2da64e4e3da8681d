import { LANGUAGES, type Language, wordsLanguage } from '../../domain/typing-words.js'
import { fileEndpoint } from '../../http/file-endpoint.js'
import type { PlainAnswer, PlainEndpoint, PlainRequest } from '../../http/server-types.js'
import { consolePage } from '../../web/console-page.js'
import { iconSvg, pageHeaders } from '../../web/page.js'

interface ConsoleFiles {
  readonly scripts: Readonly<Record<Language, string>>
  readonly style: string
  /** Licences of the packages in the script and the style. */
  readonly licences: string
}

/**
 * `/console/` and every view below it. One document serves all; its script shows the view that the address names, in the language
 * of the browser if there is a translation.
 */
export function consoleEndpoints(publicUrl: string, { scripts, style, licences }: ConsoleFiles): PlainEndpoint[] {
  const root = `${new URL(publicUrl).pathname.replace(/\/+$/, '')}/`
  const answerIn = (language: Language): PlainAnswer => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: consolePage(root, language),
    headers: {
      ...pageHeaders(publicUrl),
      'cache-control': 'no-cache',
      'content-language': language,
      vary: 'accept-language',
    },
  })
  const views = ['/console/', '/console/{page}', '/console/{page}/{item}', '/console/{page}/{item}/{part}']
  return [
    ...views.map(
      (path): PlainEndpoint => ({
        method: 'get',
        path,
        page: true,
        handle: (request) => answerIn(languageOf(request)),
      }),
    ),
    ...LANGUAGES.map((language) =>
      fileEndpoint(`/console/console.${language}.js`, 'text/javascript; charset=utf-8', scripts[language]),
    ),
    fileEndpoint('/console/console.css', 'text/css; charset=utf-8', style),
    fileEndpoint('/console/licenses.txt', 'text/plain; charset=utf-8', licences),
    fileEndpoint('/console/icon.svg', 'image/svg+xml', iconSvg('#2a9d8f')),
  ]
}

const languageOf = ({ header }: PlainRequest): Language =>
  wordsLanguage({
    preferred: null,
    asked: null,
    acceptLanguage: header('accept-language') ?? null,
    mode: 'auto',
    organizationDefault: 'en',
  })
