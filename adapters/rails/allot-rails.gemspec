# SPDX-License-Identifier: Apache-2.0
Gem::Specification.new do |spec|
  spec.name = 'allot-rails'
  spec.version = '0.1.0'
  spec.summary = 'Active Job on Allot: jobs that commit with the rows of the application'
  spec.description = 'Queue adapter of Active Job for Allot, a job system on MySQL and MariaDB. ' \
                     'Jobs are enqueued in the transaction of the application.'
  spec.authors = ['Allot']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 3.0'
  spec.files = Dir.chdir(__dir__) { Dir['README.md', 'exe/*', 'lib/**/*.rb'].sort }
  spec.bindir = 'exe'
  spec.executables = ['allot-jobs']
  spec.add_dependency 'activejob', '>= 6.1'
  spec.add_dependency 'activerecord', '>= 6.1'
  spec.add_dependency 'railties', '>= 6.1'
  spec.metadata['rubygems_mfa_required'] = 'true'
end
