import { createPrivateKey } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { SealSecrets } from '#lib/storage/wrapped-key.ts'

// Databases as the program wrote them before rows carried a checksum: documents items:i0 to items:i3 (i4 was deleted), and
// the entries 3 to 5 of the log `things`, of which the first two were forgotten.

/** Compressed, in base64. */
const plain = [
  'H4sIAAAAAAACA+3az2vTYBgH8CdNXWHDvRtjFA/Fh/fUSpG06SnuYKtBi7HVmlnnrbLXLiRtsY1hY/TQo3+AV0+Cf4k3wcv+IEnWsP4CD3oa30',
  '8IIfnyfV5CcgnkzWvHCxV/HI0HvZBN2qNMhh4zE9EWEWXphr5yrs13igZnE9psix5+/XU3Lu9ekfguHuxeEQAAAAAAAMB/4eq5/OGhNtsJex8C',
  'NVG9IN6zTzp23bXZrTccm+MrXPROudly7Wd2h191mi/rnRN+YZ+UOeoFnxU3nHaDW22XW8eOUzrP5PIHB9qsm0wNRv1g1NeXZgajPheHvYFi13',
  '7nlnmiPqXjN44sLy563UxKpRJ3m+7z9rHLnXa3+fS9lsvv72uz+8nKfuRHmaV1/YiLvrpIVv37fSzP3o4/6sURid/imxiII7GD9wcAAAAAAABu',
  'NUMvvPVCNZhYXu1SeqfSkl5NlmXyES2t6yPHV8YqklZlulAw04K5VjA3FqppobpWqG4sVNJCZa1Q2Vgw0oKxVjBuCtviJ+nCJ/FDfBF+vOFFAA',
  'AAAAAAAPgHhew9zQjPvGF/cudShuo8lJZUw3B8wTU5XUizK6m5lOoraVVOiejRPM2spJUkLczTldCQ0/jffNrDwwEAAAAAAAC4zf4AZNUIvwBA',
  'AAA=',
].join('')

/** The same, encrypted. */
const sealed = [
  'H4sIAAAAAAACA+3aaVATZxgH8HcDiKIkCkUKBVm3WkHDIcgVJ0pCAkZCAriS4EEJIYaQE3KRqGhAcUA8qFIZPCqCSAUETxAvvBUP1IBaPCoKUp',
  'XaIjrI4NGB2il2nOkXvzjz/nbeD7sz//8zO/N82ZmdE82WaEToImWaXKBB/cBoQCCAEBQFAFgDACzBvyz+c498OEAnT1aDT7MGXgWXbQfCxGZA',
  'KiVNJjYDCIIgCIIgCIIgCPoscAtrRwcHxDRSI0iUidQigWzgWIbGMGk4E8VpdDYTHXiCukuSUBYHZ4YzY9CoGFYkLSYOjWDGkVGdQKYVoXQ2l4',
  '5yuDjKmctme6QTrB3t7RETb7BVphTLlGKLjzplSjHqrhDIRSjO5ONkVC1K/af+k5XkoUP/Tg6GPDxQHgufxZ2LozFcHosxD7F2HDMGMbkNTpbq',
  'pDrCR3OlOtRdKjIMTv3/9/i422bgo554BpD2khJJ9sQzRC3cHwiCIAiCIAiCIOgz4Vi6mkZLNCK5miKZhtAzSLqXPTcjhdnh5J76wHN5Nk4dpB',
  'uX1k+ebpNgh4RcSmOcP9S/YHxV9HrfsGFn/TpXn3nmOJMASnMEv608tZBvxRha54fcKagmlXnoR+FeBRfL3j2i1Zk7rti0Zpwl3Wgswgo9bZJa',
  'uE3S2Jrc/deyXtQ5v/HuCmQ3djnPf6isLZqWN8/Q/3ZonS9id4QReWqPoYmXmumM3pu9ri/2qUd3WfC2YteSxorzW/MPl7ZXW986vfZ93Hviy0',
  'LHlbtH6Bj3I1h8FT318N4R746XD62bitivn8DHvKxeWdj6NDnYEZ9XJy1JSFvqlp6ac7Jrxhw/+5tvXfsPcxSLI7a6ZklZIzfs9hS8DtzShq/a',
  'IlW7rJ5rEg6t80GMs5v1DaXGntqlIbWbWJOmNJvddBXq1uZIl01l7YzNsluLOo1J1S3rqhKbvHffrjxIuLCVbwjLXn11nNXBuuLCA002pNXAgt',
  'gKSFEkB2LrwAXXE4IgCIIgCIIgCPqSUCydkBRNskQhVlshFzxxuiDXSR7S1e3pUNnXdzRhfG9/f1VVbkZd/i3l3c4XHluUleagUfo/NYGKH4dE',
  'LRGj1j9+f8s1/MYvCVRz+NgC/8ow88uuUu+WHnHSw1nawm/NUjOt8HFl+x8Va3/eMiRqgazZ1Nc4vYb3ZCErpbcursPzuw7/S4HjVrVvvnrC3b',
  'RQ3Li5fnKx8mX2sZpD5WNq3gIAtB+iBCTBev+TDW07qrRvzF8t9Xt1rmbS8z0k50L3oyEReQ7U5VX7KdTS9JAVt3VVY9b1DvxgT/kQRd7F988P',
  '2JdCzemc0TScb/VN7soo/tgAlR2hgLks5152UXmAawOhY9RrvCN5o22DLUkBCLZmYGsmZsKdgSAIgiAIgiAI+qKYyMASZC5AhBY3dj06/LitaN',
  '+OncruSyWSmq3HqkoavJ3Gddu93zkR28l36k5/YKqx3FR8ndeqSd4uNFa4Xz+0vRD4GOZp7hac9Aq87bL+RXLrqzsl+dsyZvsG1fqd8Lk1/FG+',
  'FWGvS+WBs89+OuNCDxrNm7A3081UtozOXLv96RIn7eNXx0qQduWwrPpG2XmCj7xnQVRv/duZNOC8i3GHdaD/4DL8wjj3y92C6VcMT1LzTRLEEm',
  'TFLsZ0ojS1RKnAKFPJmFRk+F6ShFEwLj1YyeAbOdxobmpaBFPJTUsKDJVGRchlkVLDbIVQrecwE+ep/KalBGFkTKhUazDK1AAyphbINBgF488x',
  '4IpU/1hd8CK2D08SxE1JD6XpqVSMjCmUCqEIo2DJbJ1vsL8wICl4asoioy4KI2P6NIFKJRocrxAKRHJ9YpwuzJ/JD4/lBEmT5Rzcd0qoDpeFa2',
  'O5vozkwDi6UK2nDXRqBGKMgsX4RqoEc1XhwaKYFG89UzUrSKdhiKlUbCkA4AeQiSHW+WHcGh+GondN9Kr0ujfEPGIOLT4h4RR5TXYt9TnvyPE1',
  'EzvO5dutcCvpKVSx21eWLPFsM5GXtxBxkzzBgtzT5jH5tPZhJcXeakOFuNVY7Ni8MUqTTVsAzt3xpRzXEL/OWPv0/pXcXwuKuqrDpuQae84+uN',
  'jbeSrN3XN4mVXo+77x5Q3x/r+H1Lvl/QX4g9DQAEAAAA==',
].join('')

/** The private key of the encrypted one, which opens nothing else. */
const key = [
  'MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCca/tJ4waHLFW388E5MQVu7loqVrSij8mqLZpGa5r1LsyTEJTewuCpEr5TkK',
  'qQYkJ3YxxUHGtlfJSVE1jXeP+DnKVM/qVSGiVIzQdEYNqiKjL26kbC/AQS8g7x0okbVXgcsY4yOfYYH0c0VRZgmTiaKHapzQwzhDCdHEMdCiLg',
  'MUX9dKxXwzR4oWU3cIRW94/99vR7qMHMxzVI9w1JE29UPmxga3kpLdRikoaYDlg50Sjg0BCPaIfwEE331v8m2lIwkOSI+HH2MILRT01r71RI/F',
  'jiuvKiRRo7ZdDN6bIkARoLFFcKW/Y4gvJLfhYlncmrbd6pJQuWuQBBegXJ1Nw9AgMBAAECggEAFH7FhzHa6h0yAg9LMv4sUxOh9sgzlNU4PDcL',
  'bsysmhGOtnpGt0VbgGu3SmW7I33sbY4r6Q1sOPjw0vOdAWaWPB1rP0JiUPaiCf7rQ9dY7kSPNvENYoD4266hrKfEVTOGsGPHWOdlSlXW05GOhA',
  'uvcet5WNhID/vzDrLkTErGtQ8rRedk8QaguRodYMLqzda04YrXLpjnuvN2wukB06ixr1kujsl7ZnRANuFqtCD52vLOwNKoZbdSBPkGJvt5bM4T',
  '0VH2RfcEmWuXHZrogpI2kzLGhiuE99W2ZC78vkEsbyPJ/8fhL9A+qT6hZ5/F22WhHoRYcOCV3INHIn8GDH53NQKBgQDKna+guPqzIGwtjR4oA2',
  'wVCGPmFlKOA3UgGvbBEwP232dhSzrTTtqvbPIFGIONlXHsAI6owI9uqtvJbWPvbCIt3BgIJ+iqdvQawCGdWiKFB7aKozPLhTceblx+yHF9/QWZ',
  'iVxlCj8U2l6UfYJ/4d3SL/PHyBZ8JWWmUBaiBXsbuwKBgQDFooei4FqQcBAOhxq2sgFlqmzniX8nqDFyVSbiB2sLV2OkUeq7YR4WhrxGEMxZiS',
  'IpLlJ7Q7ERgqW97gEqX5jo3znhD9f7tyiYU+Xs9lI3WRUZrOiitKGE2iSC917m9VaD8q6GiRaiqE6Pw0ZXpz/gdnRd2yc5Gkx5o+49eOjcZwKB',
  'gQDAcDYPu8D4grHcLazXqjBsZZSkQs1T7nq+7H0yccIRJqxEnzQW4E0Z0qqnJlpEDg2ubfUQ2BsirAql7Ey/aH+p+OGmVWlJBkPgaF1E2wfwO5',
  'wnXsxh33uzXnRhQjVwyPEZm3nyyWGSh7jO5coddcO9zyeFt0eLz+UUqfplFjmP4wKBgQCdmXb57lip14MmYpxt1dMBZH8FwAJy+E+98aNZGTtG',
  'RwDBV0WM+OwKYJUgdmLOf2mLV1IU060O3pUWuQWa6bLA+Mlp7L16D9vCZRzz8pUrZ9FIsTauEMbAb0gwW90E5d2AyPRdelJfkUFcqQad/VQVxc',
  'AT3CASDCOx2ISx5ooivwKBgEVIjbb5EB0yAon/AscWWskNhN6bnKCiWTbDqPkhAmX4babP73Xs2m5Zg3r0mrvANd5oJM3vzlcmKaU+SKq/bAPU',
  '3mhnvvl9qDqmE+xaBbg45leo+gRa0BRVDsnrjU/8BEzCCZRoWp7lUYSw3FUCJSXRJU51qFQUoafTTonYqxNL',
].join('')

const read = (text: string): Buffer => gunzipSync(Buffer.from(text, 'base64'))

/** The plain database. */
export const firstPlain = (): Buffer => read(plain)

/** The encrypted one, and what opens it. */
export const firstSealed = (): Buffer => read(sealed)
export const firstSecrets: SealSecrets = {
  password: 'a password for the store',
  privateKey: createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' }),
  cost: 16,
}
