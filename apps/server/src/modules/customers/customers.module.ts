import type { Module } from '../module.ts'

export const customers: Module = {}
