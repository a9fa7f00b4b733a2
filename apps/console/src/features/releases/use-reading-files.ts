import type { Artifact } from '@keyward/contract'
import { useEffect, useRef, useState } from 'react'
import { toast } from '../../ui/toast.tsx'
import { digestFile } from './digest-file.ts'
import { guessArtifact } from './release-rules.ts'

interface Reading {
  file: File
  abort: AbortController
  /** From 0 to 1. */
  progress: number
}

/** Reads chosen files one after the other, for their sizes and digests. */
export function useReadingFiles(onRead: (artifact: Omit<Artifact, 'url'>) => void) {
  const [reading, setReading] = useState<readonly Reading[]>([])
  const all = useRef(new Set<AbortController>())
  const last = useRef(Promise.resolve())
  useEffect(() => {
    const begun = all.current
    return () => {
      for (const abort of begun) abort.abort()
    }
  }, [])

  async function readOne({ file, abort }: Reading) {
    const note = (progress: number) =>
      setReading((now) => now.map((one) => (one.file === file ? { ...one, progress } : one)))
    try {
      const digests = await digestFile(file, abort.signal, note)
      if (digests) onRead({ ...guessArtifact(file.name), name: file.name, size: file.size, ...digests })
    } catch {
      toast.error(`${file.name} cannot be read`)
    }
    all.current.delete(abort)
    setReading((now) => now.filter((one) => one.file !== file))
  }

  return {
    reading,
    read(files: readonly File[]) {
      const begun = files.map((file) => ({ file, abort: new AbortController(), progress: 0 }))
      setReading((now) => [...now, ...begun])
      for (const one of begun) {
        all.current.add(one.abort)
        last.current = last.current.then(() => readOne(one))
      }
    },
  }
}
