{{- define "writ.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "writ.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "writ.labels" -}}
{{ include "writ.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "writ.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{- define "writ.scheme" -}}
{{- if .Values.tls.secretName }}https{{ else }}http{{ end -}}
{{- end -}}

{{/* The names by which clients of the cluster reach a Service, as a list: of the name of the Service and the release. */}}
{{- define "writ.hosts" -}}
{{- $name := .name -}}
{{- $namespace := .namespace -}}
- {{ $name }}
- {{ $name }}.{{ $namespace }}
- {{ $name }}.{{ $namespace }}.svc
- {{ $name }}.{{ $namespace }}.svc.cluster.local
{{- end -}}

{{/* The configuration. values.schema.json refuses members of `configuration` that belong to the pod. */}}
{{- define "writ.configuration" -}}
{{- $name := include "writ.name" . -}}
{{- $own := .Values.configuration -}}
listen: 0.0.0.0:8700
admin_listen: 0.0.0.0:8701
keys: /run/writ/keys
{{- if eq .Values.store.kind "sqlite" }}
store: sqlite:///var/lib/writ/gateway/ledger.db
{{- else }}
store: {{ .Values.store.postgresql.uri | quote }}
{{- end }}
ledger:
  files: /var/lib/writ/gateway/ledger
{{- with $own.ledger }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.tls.secretName }}
tls: {cert: /run/secrets/writ/tls/tls.crt, key: /run/secrets/writ/tls/tls.key}
admin_tls: {cert: /run/secrets/writ/tls/tls.crt, key: /run/secrets/writ/tls/tls.key}
{{- end }}
{{- if not (hasKey $own "hosts") }}
hosts:
  {{- include "writ.hosts" (dict "name" $name "namespace" .Release.Namespace) | nindent 2 }}
  {{- include "writ.hosts" (dict "name" (printf "%s-admin" $name) "namespace" .Release.Namespace) | nindent 2 }}
{{- end }}
{{- if not (hasKey $own "public_url") }}
public_url: {{ include "writ.scheme" . }}://{{ $name }}.{{ .Release.Namespace }}.svc:8700
{{- end }}
{{- if not (hasKey $own "issuer") }}
issuer: {{ include "writ.scheme" . }}://{{ $name }}.{{ .Release.Namespace }}.svc:8700
{{- end }}
{{- if not (hasKey $own "admin_url") }}
admin_url: {{ include "writ.scheme" . }}://{{ $name }}-admin.{{ .Release.Namespace }}.svc:8701
{{- end }}
{{ toYaml (omit $own "ledger") }}
{{- end -}}

{{- define "writ.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "writ.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* A probe of the admin listener, by its path. */}}
{{- define "writ.probe" -}}
httpGet:
  path: {{ .path }}
  port: admin
  {{- if .root.Values.tls.secretName }}
  scheme: HTTPS
  {{- end }}
timeoutSeconds: 3
{{- end -}}
