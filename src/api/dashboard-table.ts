import type { Route } from '../http/route.js'
import { activities, dataCounter, dataCounterBatch } from './dashboard/activities.js'
import {
  aggregatedHistory,
  applicationCounts,
  confidenceDistribution,
  connexionStats,
  contextualBreakdown,
  dailyUsages,
  geolocation,
  groupCounts,
} from './dashboard/aggregations.js'
import { channelRoutes } from './dashboard/alert-channels.js'
import { alertDeliveries } from './dashboard/alert-deliveries.js'
import { alertRules, changeAlertRules } from './dashboard/alerts.js'
import { authenticationTrace } from './dashboard/authentication-trace.js'
import {
  activityDetails,
  authenticationsHistory,
  indicatorSignal,
  indicatorSignals,
  listAuthentications,
  oneAuthentication,
  userHistory,
} from './dashboard/authentications.js'
import { blockedUsers, blockedUsersBatch, blockedUsersHistory } from './dashboard/blocked-users.js'
import type { DashboardServices } from './dashboard/dashboard-route.js'
import { downloadArchive, exportArchives, exportLog } from './dashboard/exports.js'
import { currentKey, issueKey, listKeys, revokeKey } from './dashboard/keys.js'
import { listLogs, oneLog, readLog, searchLogs } from './dashboard/logs.js'
import { listNotifications, markRead, markReadByQuery } from './dashboard/notifications.js'
import { deleteMadeUpPeople, organization } from './dashboard/organization.js'
import { listPatterns, patternsById, searchTagKeys, searchTagValues, tagKeys, tagValues } from './dashboard/patterns.js'
import {
  archivePolicy,
  changePolicy,
  createPolicy,
  defaultPolicy,
  listPolicies,
  makeDefaultPolicy,
  onePolicy,
} from './dashboard/policies.js'
import { authenticationPresses } from './dashboard/presses.js'
import {
  endShadow,
  makeShadow,
  policyShadow,
  policyShadowHistory,
  simulateDraft,
  simulatePolicy,
} from './dashboard/shadow-policy.js'
import { system } from './dashboard/system.js'
import { usageApi, usageHistory } from './dashboard/usage.js'
import { actOnUser, searchUserLogs, userActions, userLogs } from './dashboard/user-actions.js'
import { sortedUsers, sortUsers, userStatistics, usersTable } from './dashboard/user-statistics.js'
import { listUsers, oneUser, searchUserRefs, userMembers, usersGrowth } from './dashboard/users.js'
import { authenticationWhatIf } from './dashboard/what-if.js'

/** Every endpoint of the dashboard API, in the order of its documentation. */
export const dashboardRoutes: readonly Route<DashboardServices>[] = [
  listUsers,
  oneUser,
  userMembers,
  searchUserRefs,
  usersGrowth,
  userLogs,
  searchUserLogs,
  userActions,
  actOnUser,
  listAuthentications,
  oneAuthentication,
  authenticationsHistory,
  userHistory,
  authenticationTrace,
  authenticationPresses,
  authenticationWhatIf,
  indicatorSignals,
  indicatorSignal,
  listPatterns,
  patternsById,
  tagKeys,
  searchTagKeys,
  tagValues,
  searchTagValues,
  dailyUsages,
  blockedUsers,
  blockedUsersHistory,
  blockedUsersBatch,
  usersTable,
  userStatistics,
  groupCounts,
  geolocation,
  contextualBreakdown,
  applicationCounts,
  confidenceDistribution,
  aggregatedHistory,
  connexionStats,
  activities,
  activityDetails,
  dataCounter,
  dataCounterBatch,
  sortedUsers,
  sortUsers,
  usageHistory,
  usageApi,
  listPolicies,
  createPolicy,
  defaultPolicy,
  onePolicy,
  changePolicy,
  archivePolicy,
  makeDefaultPolicy,
  simulatePolicy,
  simulateDraft,
  policyShadow,
  policyShadowHistory,
  makeShadow,
  endShadow,
  alertRules,
  changeAlertRules,
  alertDeliveries,
  ...channelRoutes,
  listNotifications,
  markRead,
  markReadByQuery,
  listLogs,
  searchLogs,
  oneLog,
  readLog,
  exportLog,
  exportArchives,
  downloadArchive,
  organization,
  deleteMadeUpPeople,
  currentKey,
  listKeys,
  issueKey,
  revokeKey,
  system,
]

/** Description of each group of endpoints. */
export const dashboardGroups: Readonly<Record<string, string>> = {
  users: 'Users and members with their logs, and administrative actions on them',
  'users-refs': 'Search of user references',
  'users-growth': 'Number of users over time',
  authentications: 'Sign-in attempts',
  'authentications-history': 'Attempts over time',
  authentication: 'How one attempt was scored',
  patterns: 'Typing patterns and their tags',
  aggregations: 'Statistics over users and attempts',
  activities: 'Time series',
  'activities-details': 'The attempts behind a point of a time series',
  'data-counter': 'Counts of users, patterns and attempts',
  sorting: 'Leaderboards of users',
  usage: 'Headcount ledger and API usage',
  policies: 'Policies: weights, decision model and fallback by security code',
  'default-policy': 'The policy of accounts without a group policy',
  alert: 'Alert rules and delivery channels',
  notifications: 'Notifications of alert events',
  logs: 'Request log',
  organization: 'The organization with its settings and quotas',
  key: 'The API key of the call',
  keys: 'API keys of the organization',
  management: 'Exports and their archives',
  system: 'Health of the deployment',
}
