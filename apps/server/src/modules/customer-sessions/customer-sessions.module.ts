import type { Module } from '../module.ts'

export const customerSessions: Module = {}
