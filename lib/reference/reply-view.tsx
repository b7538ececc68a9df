import { useEffect, useState } from 'preact/hooks'
import type { Received } from './send.ts'

const formatSize = (bytes: number): string => (bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`)

/** The address of the content in this page, for a link and a picture. */
const useObjectUrl = (content: Blob | undefined): string | undefined => {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!content || content.size === 0) {
      setUrl(undefined)
      return undefined
    }
    const made = URL.createObjectURL(content)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [content])
  return url
}

/** The reply to a request: its status, headers, and its body as text, as a picture, or as a file to save. */
export const ReplyView = ({ received }: { readonly received: Received }) => {
  const { status, statusText, headers, type, text, content, size, milliseconds, isComplete } = received
  const url = useObjectUrl(content)
  return (
    <div class="received" aria-live="polite">
      <p>
        <strong class={status < 400 ? 'good' : 'bad'}>
          {status} {statusText}
        </strong>{' '}
        {formatSize(size)} in {Math.round(milliseconds)} ms{isComplete ? '' : ', more to come …'}
        {url && (
          <a class="save" href={url} download="reply">
            Save
          </a>
        )}
      </p>
      <details>
        <summary>{headers.length} headers</summary>
        <pre tabIndex={0}>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
      </details>
      {text !== undefined && text !== '' && (
        <pre tabIndex={0} aria-label="The body of the reply">
          {text}
        </pre>
      )}
      {url && type.startsWith('image/') && <img src={url} alt="The reply" />}
    </div>
  )
}
