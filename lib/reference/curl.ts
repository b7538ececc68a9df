import type { ReadyRequest } from './request.ts'

/** A text as one word of a POSIX shell. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A header as an argument. A credential is a variable, so that the command can be shown to others. */
const formatHeader = ([name, value]: readonly [name: string, value: string]): string => {
  if (name === 'Authorization') return '"Authorization: Bearer $TOKEN"'
  return name === 'X-Api-Key' ? '"X-Api-Key: $KEY"' : quote(`${name}: ${value}`)
}

const formatBody = (body: ReadyRequest['body']): readonly string[] => {
  if (body === undefined) return []
  return [typeof body === 'string' ? `--data ${quote(body)}` : `--data-binary @${quote(body.name)}`]
}

/**
 * A curl command that sends a request. It names the credential as the variable TOKEN or KEY of the shell.
 * @param origin of the service, such as https://host.example:8443
 * @param output the file for a reply that is bytes
 */
export const formatCurl = (request: ReadyRequest, origin: string, output?: string): string => {
  const { method, path, headers, body } = request
  // curl takes POST by itself for a body.
  const isImplied = method === (body === undefined ? 'GET' : 'POST')
  return [
    `curl${isImplied ? '' : ` -X ${method}`} ${quote(origin + path)}`,
    ...Object.entries(headers).map(header => `-H ${formatHeader(header)}`),
    ...formatBody(body),
    ...(output === undefined ? [] : [`-o ${quote(output)}`]),
  ].join(' \\\n  ')
}
