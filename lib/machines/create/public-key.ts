/** The types of keys that OpenSSH accepts, and the number of fields in the bytes of such a key (RFC 4253, RFC 5656, RFC 8709). */
const fieldsOfType: Readonly<Record<string, number>> = {
  'ssh-ed25519': 2,
  'ssh-rsa': 3,
  'ecdsa-sha2-nistp256': 3,
  'ecdsa-sha2-nistp384': 3,
  'ecdsa-sha2-nistp521': 3,
  'sk-ssh-ed25519@openssh.com': 3,
  'sk-ecdsa-sha2-nistp256@openssh.com': 4,
}

/** Returns the fields of a key, each of which has its length before it; undefined if they do not end with the bytes. */
const readFields = (bytes: string): readonly string[] | undefined => {
  const fields: string[] = []
  for (let at = 0; at < bytes.length;) {
    const start = at + 4
    const length = [...bytes.slice(at, start)].reduce((sum, byte) => sum * 256 + byte.charCodeAt(0), 0)
    if (start + length > bytes.length) return undefined
    fields.push(bytes.slice(start, start + length))
    at = start + length
  }
  return fields
}

/** True for one public key as in a file `id_*.pub`: its type, its bytes in Base64, and a comment. */
export const isPublicKey = (text: string): boolean => {
  const [, type = '', base64 = ''] =
    /^([a-z0-9@.-]+) ((?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/](?:=|[A-Za-z0-9+/])))(?: [^\p{C}]*)?$/u.exec(
      text,
    ) ?? []
  const fields = readFields(atob(base64))
  return fields !== undefined && fields.length === fieldsOfType[type] && fields[0] === type
}
