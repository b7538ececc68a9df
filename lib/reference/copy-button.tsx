import { useState } from 'preact/hooks'

/** A button that copies a text, and says what came of it until the text changes. */
export const CopyButton = ({ text }: { readonly text: string }) => {
  const [copied, setCopied] = useState<{ readonly text: string; readonly result: string }>()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied({ text, result: 'Copied' })
    } catch {
      // Browsers give the clipboard only to pages that came over TLS or from this computer.
      setCopied({ text, result: 'Select and copy it by hand' })
    }
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {copied?.text === text ? copied.result : 'Copy'}
    </button>
  )
}
