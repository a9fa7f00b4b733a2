import type { Module } from '../module.ts'

export const sessions: Module = {}
