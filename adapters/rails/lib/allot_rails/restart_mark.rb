# SPDX-License-Identifier: Apache-2.0
module AllotRails
  # The file that `bin/rails restart` touches. Made before the application is loaded, so that a change
  # says that the loaded code may be old.
  class RestartMark
    def initialize(path)
      @path = File.expand_path(path)
      @seen = look
    end

    def changed? = look != @seen

    private

    def look
      file = File.stat(@path)
      [file.mtime, file.ino]
    rescue Errno::ENOENT
      nil
    end
  end
end
